// The coefficients of the formulas: minimax polynomials with rounded coefficients, found
// by Sollya (fpminimax); each names its function, range and error. Do not edit by hand.
#pragma once
#include <cstdint>

namespace anvil::elementary {

template <class T>
struct coefficients;

template <>
struct coefficients<float> {
  // log 2 in two full parts
  static constexpr float ln2[] = {0x1.62e43p-1f, -0x1.05c61p-29f};
  // log 2, the first part short enough that k times it is exact
  static constexpr float ln2_short[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
  static constexpr float log2e = 0x1.715476p0f;  // 1/log 2
  // pi/2 in three full parts
  static constexpr float half_pi[] = {0x1.921fb6p0f, -0x1.777a5cp-25f, -0x1.ee59dap-50f};
  static constexpr float two_over_pi = 0x1.45f306p-1f;  // 2/pi
  // exp(r) = 1 + r + r^2 (c0 + c1 r + ...), |r| <= ln2/2: 2^-28.1875
  static constexpr float exp[] = {0x1.fffffap-2f, 0x1.555492p-3f, 0x1.555a26p-5f, 0x1.123984p-7f, 0x1.694ccp-10f};
  // expm1(r)/r = 1 + r (c0 + c1 r + ...), |r| <= 0.4335: 2^-28.8125
  static constexpr float expm1[] = {0x1p-1f,        0x1.555552p-3f,  0x1.55545ep-5f,
                                    0x1.11142ep-7f, 0x1.6decc8p-10f, 0x1.9e5e7p-13f};
  // log(2)/2 in two full parts
  static constexpr float half_ln2[] = {0x1.62e43p-2f, -0x1.05c61p-30f};
  static constexpr float two_log2e = 0x1.715476p1f;  // 2/log 2
  // expm1(2 r)/2 = r + r^2 + r^3 (c0 + c1 r + ...), -ln2/2 <= r <= 0: 2^-31.40625
  static constexpr float tanh[] = {0x1.55553ap-1f, 0x1.554f14p-2f, 0x1.108b9ep-3f, 0x1.61a4f4p-5f, 0x1.3a9c18p-7f};
  // log(1+f)/f = 1 - f/2 + f^2 (c0 + c1 f + ...), -1/4 <= f <= 1/2: 2^-30
  static constexpr float log[] = {0x1.55555ap-2f, -0x1.00006ep-2f, 0x1.99975ep-3f,  -0x1.5519ccp-3f, 0x1.246456p-3f,
                                  -0x1.04af5p-3f, 0x1.df10fep-4f,  -0x1.74d5d8p-4f, 0x1.33c88p-5f};
  // sin(r) = r + r^3 (c0 + c1 r^2 + ...), |r| <= pi/4: 2^-32.25
  static constexpr float sin[] = {-0x1.555556p-3f, 0x1.111164p-7f, -0x1.a04858p-13f, 0x1.77db1cp-19f};
  // cos(r) = 1 - r^2/2 + r^4 (c0 + c1 r^2 + ...), |r| <= pi/4: 2^-33
  static constexpr float cos[] = {0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e81p-16f};
  // erf(x) = x + x (c0 + c1 x^2 + ...), |x| <= 1: 2^-29.34375
  static constexpr float erf_near[] = {0x1.06eba8p-3f, -0x1.81273ep-2f,  0x1.ce2cf2p-4f, -0x1.b7f88cp-6f,
                                       0x1.540172p-8f, -0x1.a3d812p-11f, 0x1.4917a4p-14f};
  // sqrt(erfc(1.5 + u)) = c0 + c1 u + ..., weighted for its square, -0.5 <= u <= 2.6: 2^-27.84375
  static constexpr float erf_far[] = {0x1.790c56p-3f,  -0x1.4abf26p-2f, 0x1.9bfa44p-3f,   -0x1.87c334p-6f,
                                      -0x1.f754acp-6f, 0x1.9d10bep-7f,  0x1.a8566ap-10f,  -0x1.08b9b8p-9f,
                                      0x1.c18c7ap-13f, 0x1.5f04cap-13f, -0x1.ef9cb4p-15f, 0x1.96055cp-18f};
  // atan(x) = x + x^3 (c0 + c1 x^2 + ...), |x| <= 1: 2^-28.5
  static constexpr float atan[] = {-0x1.55553ep-2f, 0x1.9991ecp-3f,  -0x1.24211ap-3f, 0x1.c0946cp-4f,  -0x1.5825f2p-4f,
                                   0x1.da9c2ep-5f,  -0x1.fe7d24p-6f, 0x1.6551e2p-7f,  -0x1.d5a1aap-10f};
  // log2(e) in two full parts
  static constexpr float log2e_parts[] = {0x1.715476p0f, 0x1.4ae0cp-26f};
  // 1/3 in two parts
  static constexpr float third[] = {0x1.555556p-2f, -0x1.555556p-27f};
  // atanh(s) = s + s^3/3 + s^5 (c0 + c1 s^2 + ...), |s| <= 0.1716: 2^-36.75
  static constexpr float pow_log[] = {0x1.999ap-3f, 0x1.245282p-3f, 0x1.dfa07cp-4f};
  // the binary digits of 2/pi, 12 (f32) or 24 (f64) at a time
  static constexpr float two_over_pi_digits[] = {0,           0,           0x1.45ep11f, 0x1.306p11f, 0x1.b9p10f,
                                                 0x1.c88p11f, 0x1.52p8f,   0x1.3f8p11f, 0x1.3a8p9f,  0x1.f44p10f,
                                                 0x1.ea6p11f, 0x1.374p10f, 0x1.81ap11f, 0x1.6c4p11f, 0x1.2b2p11f,
                                                 0x1.278p11f, 0x1.0e4p10f, 0x1.04p6f,   0x1.fcap11f};
};

template <>
struct coefficients<double> {
  // log 2 in two full parts
  static constexpr double ln2[] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  // log 2, the first part short enough that k times it is exact
  static constexpr double ln2_short[] = {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43};
  static constexpr double log2e = 0x1.71547652b82fep0;  // 1/log 2
  // pi/2 in three full parts
  static constexpr double half_pi[] = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};
  static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;  // 2/pi
  // exp(r) = 1 + r + r^2 (c0 + c1 r + ...), |r| <= ln2/2: 2^-57.875
  static constexpr double exp[] = {0x1.000000000000ap-1,  0x1.55555555554fep-3,  0x1.55555555506b4p-5,
                                   0x1.1111111126b32p-7,  0x1.6c16c18479ce6p-10, 0x1.a01a012ff4659p-13,
                                   0x1.a01999558710fp-16, 0x1.71df18d48c5e4p-19, 0x1.28ae06e40b726p-22,
                                   0x1.ad932d54e89d9p-26};
  // expm1(r)/r = 1 + r (c0 + c1 r + ...), |r| <= 0.4335: 2^-64.125
  static constexpr double expm1[] = {0x1p-1,
                                     0x1.5555555555555p-3,
                                     0x1.5555555555554p-5,
                                     0x1.111111111125cp-7,
                                     0x1.6c16c16c17627p-10,
                                     0x1.a01a019fa881bp-13,
                                     0x1.a01a019cc3fe2p-16,
                                     0x1.71de3b75e3e08p-19,
                                     0x1.27e50388c7898p-22,
                                     0x1.ae618e8335611p-26,
                                     0x1.1edb5225ff6edp-29,
                                     0x1.6421b95357cf8p-33,
                                     0x1.b33564b97e427p-37};
  // log(2)/2 in two full parts
  static constexpr double half_ln2[] = {0x1.62e42fefa39efp-2, 0x1.abc9e3b39803fp-57};
  static constexpr double two_log2e = 0x1.71547652b82fep1;  // 2/log 2
  // expm1(2 r)/2 = r + r^2 + r^3 (c0 + c1 r + ...), -ln2/2 <= r <= 0: 2^-61.6875
  static constexpr double tanh[] = {
      0x1.555555555551fp-1, 0x1.5555555552f09p-2,  0x1.1111111067352p-3,  0x1.6c16c139c2b8ap-5,  0x1.a019f89bd3cb2p-7,
      0x1.a018f83a83daep-9, 0x1.71ca2665cda8dp-11, 0x1.26e59152ff4a4p-13, 0x1.9e3cb4ab616cap-16, 0x1.a435bafdbc88fp-19};
  // 2^r = 1 + r (c0 + c1 r + ...), |r| <= 1/2: 2^-57.25
  static constexpr double exp2[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5a6p-3,  0x1.c6b08d704a12cp-5,
                                    0x1.3b2ab6fb9fda6p-7,  0x1.5d87fe789e96fp-10, 0x1.4309130f6cbdcp-13,
                                    0x1.ffcbfc6685efdp-17, 0x1.62bfc6596b95ap-20, 0x1.b52522bc19eeep-24,
                                    0x1.e61d4332c8c78p-28, 0x1.e973178f84e2dp-32};
  // 2 atanh(s) = 2 s + s^3 (c0 + c1 s^2 + ...), |s| <= 0.2: 2^-62.625
  static constexpr double log[] = {0x1.555555555554fp-1, 0x1.999999999c146p-2, 0x1.24924921e8df1p-2,
                                   0x1.c71c748ae73e7p-3, 0x1.745c4c1c9805cp-3, 0x1.3b35953689a63p-3,
                                   0x1.0dce917389014p-3, 0x1.1b6cc8c5b061fp-3};
  // sin(r) = r + r^3 (c0 + c1 r^2 + ...), |r| <= pi/4: 2^-57.875
  static constexpr double sin[] = {-0x1.5555555555548p-3, 0x1.111111110f747p-7,   -0x1.a01a019bedba2p-13,
                                   0x1.71de355a30dc1p-19, -0x1.ae5e500fabd75p-26, 0x1.5d8ccb88b00a3p-33};
  // cos(r) = 1 - r^2/2 + r^4 (c0 + c1 r^2 + ...), |r| <= pi/4: 2^-63.875
  static constexpr double cos[] = {0x1.555555555554bp-5,   -0x1.6c16c16c15005p-10, 0x1.a01a019c8c64cp-16,
                                   -0x1.27e4f7eee413ap-22, 0x1.1ee9d999ab35dp-29,  -0x1.8fa533c62d8b9p-37};
  // erf(x) = x + x (c0 + c1 x^2 + ...), |x| <= 1: 2^-56
  static constexpr double erf_near[] = {0x1.06eba8214db68p-3,  -0x1.812746b0379b2p-2,  0x1.ce2f21a0408d1p-4,
                                        -0x1.b82ce311ee09bp-6, 0x1.565bccf7e2856p-8,   -0x1.c02db0149d904p-11,
                                        0x1.f9a2b75531772p-14, -0x1.f4ca204c771c5p-17, 0x1.b97e44280cfb9p-20,
                                        -0x1.5bfe76384472p-23, 0x1.d6e3ddfeb1f49p-27,  -0x1.ab15c51d2ebebp-31};
  // -log2(erfc(x))/x = c0 + c1 x + ..., weighted for erf, 1 <= x <= 6: 2^-59.1875
  static constexpr double erf_far[] = {
      0x1.a0be8511b0f3dp0,    0x1.d63ebb688937cp-1,   0x1.2faa46a8c437bp-3,   -0x1.c4636d5ee40fep-6,
      -0x1.16ec12f049fd2p-12, 0x1.3869f4e5a84a1p-9,   -0x1.90703e3c37442p-11, -0x1.ea3c9deed11ffp-15,
      0x1.73b455120368cp-13,  -0x1.aeaae44a5c83p-14,  0x1.476ed3af34f6dp-15,  -0x1.77bef4bc97eb2p-17,
      0x1.5291f75a7946p-19,   -0x1.e3112680de716p-22, 0x1.0ea79369669fbp-24,  -0x1.d25784ae64139p-28,
      0x1.298d7c8773f3bp-31,  -0x1.07ec5a2c8f31dp-35, 0x1.20e9762375acbp-40,  -0x1.2393f151e34e5p-46};
  // atan(x) = x + x^3 (c0 + c1 x^2 + ...), |x| <= 1: 2^-62.75
  static constexpr double atan[] = {
      -0x1.5555555555554p-2, 0x1.9999999999732p-3, -0x1.2492492486524p-3,  0x1.c71c71c354ce1p-4,
      -0x1.745d16e9a8f57p-4, 0x1.3b13ab6587b77p-4, -0x1.1110ce26d6accp-4,  0x1.e1dd736db1c3p-5,
      -0x1.af0bc55b3afe3p-5, 0x1.8587bc50a8249p-5, -0x1.61e7c1676b33bp-5,  0x1.4054764536a4fp-5,
      -0x1.1bf50da3a8c8ap-5, 0x1.dff6908bd5423p-6, -0x1.756f5f3da3527p-6,  0x1.012f2c0c3e4f4p-6,
      -0x1.2cf111b9b8026p-7, 0x1.1e57744ea01cfp-8, -0x1.a4c5d469f7862p-10, 0x1.bc838783ceff1p-12,
      -0x1.2ad7287431eap-14, 0x1.7eb58e7f59166p-18};
  // log2(e) in two full parts
  static constexpr double log2e_parts[] = {0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56};
  // 1/3 in two parts
  static constexpr double third[] = {0x1.5555555555555p-2, 0x1.5555555555555p-56};
  // atanh(s) = s + s^3/3 + s^5 (c0 + c1 s^2 + ...), |s| <= 0.1716: 2^-73.5
  static constexpr double pow_log[] = {0x1.9999999999996p-3, 0x1.2492492492f4bp-3, 0x1.c71c71c59796ap-4,
                                       0x1.745d1828c79ecp-4, 0x1.3b1364f1015ffp-4, 0x1.1120692f26d9dp-4,
                                       0x1.de3e60655bfa2p-5, 0x1.eabe237138ae1p-5};
  // the binary digits of 2/pi, 12 (f32) or 24 (f64) at a time
  static constexpr double two_over_pi_digits[] = {0,
                                                  0,
                                                  0,
                                                  0x1.45f306p23,
                                                  0x1.b9391p22,
                                                  0x1.529fcp20,
                                                  0x1.3abe88p21,
                                                  0x1.ea69bap23,
                                                  0x1.81b6c4p23,
                                                  0x1.2b3278p23,
                                                  0x1.0e4104p22,
                                                  0x1.fca2c6p23,
                                                  0x1.57bd76p23,
                                                  0x1.8ac36ep23,
                                                  0x1.2371dp21,
                                                  0x1.093748p22,
                                                  0x1.c00c92p23,
                                                  0x1.775048p21,
                                                  0x1.a32438p23,
                                                  0x1.fc3bd6p23,
                                                  0x1.cb129p20,
                                                  0x1.4e7ddp23,
                                                  0x1.046beap23,
                                                  0x1.75da2p21,
                                                  0x1.09d338p23,
                                                  0x1.c09adp22,
                                                  0x1.7df904p22,
                                                  0x1.cc8ebp21,
                                                  0x1.cc1a98p21,
                                                  0x1.cfa4ep21,
                                                  0x1.08bf16p23,
                                                  0x1.7bf25p23,
                                                  0x1.d8ffcp21,
                                                  0x1.2fffbcp23,
                                                  0x1.6603cp18,
                                                  0x1.de5e22p23,
                                                  0x1.16b414p23,
                                                  0x1.b47db4p22,
                                                  0x1.b3f678p21,
                                                  0x1.3e5848p21,
                                                  0x1.6e9e8cp23,
                                                  0x1.fb34fp21,
                                                  0x1.7fa8b4p22,
                                                  0x1.d49ee8p22,
                                                  0x1.8fd7cap23,
                                                  0x1.e2f67ap23,
                                                  0x1.ce7dcp18,
                                                  0x1.14a524p23,
                                                  0x1.d4d7f6p23,
                                                  0x1.7ec47cp22,
                                                  0x1.1aba1p23,
                                                  0x1.580ccp22,
                                                  0x1.1bf1ecp22,
                                                  0x1.aeafcp22,
                                                  0x1.9f784p23};
};

}  // namespace anvil::elementary
