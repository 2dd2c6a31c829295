list(inputs=list(
list(dtype="f32",shape=c(4),data=c(2.603676,0.8319354,0.5854459,-1.0545497))),
outputs=list(
list(dtype="f32",shape=c(4),data=c(0.5123479,0.7392362,0.55257106,-0.869678)),
list(dtype="f32",shape=c(4),data=c(0.5123479,0.7392362,0.55257106,-0.869678))),
atol=c(3.3e-06,3.3e-06),
rtol=c(2e-05,2e-05))
