// The coefficients of polynomials P and of quotients P/Q (name_n, name_d), written by tools/coefficients.py; each
// names its function, where it is fitted and the largest relative error of the function made with it. Numbers in two
// parts are so called.
#pragma once

namespace anvil::elementary {

template <class T>
struct fitted;

template <>
struct fitted<float> {
  static constexpr float lgamma_offset = 0.4375;
  static constexpr float digamma_offset = 0.71875;
  static constexpr float trigamma_offset = -0.4375;
  static constexpr float erfc_offset = 0.6875;
  static constexpr float erfc_shift = 0.75;
  static constexpr float erf_inv_square = 0.5625;
  static constexpr float erf_inv_root = 1.4375;
  static constexpr float erf_inv_offset = -0.5625;
  static constexpr float erf_inv_slope = 0.3125;
  static constexpr float digamma_root[] = {0x1.d8b618p-2f, 0x1.ab5f2p-27f};
  static constexpr float half_root_pi[] = {0x1.c5bf8ap-1f, -0x1.c96212p-26f};
  static constexpr float half_log_two_pi[] = {0x1.d67f1cp-1f, 0x1.0c97d6p-26f};
  // lgamma(1 + v) / (v (v - 1)) - lgamma_offset, 0 <= v <= 2: 2^-31.0
  static constexpr float lgamma_near_n[] = {0x1.1e234p-3f, 0x1.54fc12p-7f, -0x1.2aa8b2p-3f, -0x1.ee07f8p-5f,
                                            -0x1.2115b8p-8f};
  static constexpr float lgamma_near_d[] = {0x1p0f, 0x1.d4706cp0f, 0x1.0e46fp0f, 0x1.ae2562p-3f, 0x1.5a076ep-7f};
  // x (lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2) in 1/x^2, 3 <= x: 2^-34.2
  static constexpr float lgamma_far[] = {0x1.555552p-4f, -0x1.6bfb1ep-9f, 0x1.96485ep-11f, -0x1.ac40c2p-12f};
  // digamma(1 + v) / (v - digamma_root) - digamma_offset, 0 <= v <= 3: 2^-30.4
  static constexpr float digamma_near_n[] = {0x1.1031d4p-1f, 0x1.416896p-4f, -0x1.129058p-2f, -0x1.55aa86p-4f,
                                             -0x1.2711b2p-8f};
  static constexpr float digamma_near_d[] = {0x1p0f, 0x1.c15a54p0f, 0x1.cdec84p-1f, 0x1.39abb2p-3f, 0x1.a3fcep-8f};
  // x^2 (digamma(x) - log x + 1/(2 x)) in 1/x^2, 4 <= x: 2^-31.8
  static constexpr float digamma_far[] = {-0x1.555524p-4f, 0x1.1085c6p-7f, -0x1.ccd40cp-9f};
  // 1/trigamma(1 + v) - (1 + v) - trigamma_offset, 0 <= v <= 3: 2^-27.1
  static constexpr float trigamma_near_n[] = {0x1.74238cp-5f, -0x1.08e064p-5f, -0x1.a91aa6p-5f, -0x1.48c466p-7f,
                                              0x1.336ddap-8f};
  static constexpr float trigamma_near_d[] = {0x1p0f, 0x1.be2152p0f, 0x1.ee228ap-1f, 0x1.ea24fep-5f, -0x1.334154p-4f};
  // x^3 (trigamma(x) - 1/x - 1/(2 x^2)) in 1/x^2, 4 <= x: 2^-33.2
  static constexpr float trigamma_far[] = {0x1.55554ep-3f, -0x1.10feeep-5f, 0x1.7f09bap-6f, -0x1.90f828p-6f};
  // log(sin(pi r)/(pi r)) / r^2 in r^2, |r| <= 1/2: 2^-27.5
  static constexpr float log_sinc[] = {-0x1.a51a66p0f,  -0x1.151366p-1f, -0x1.5b2e08p-2f, -0x1.01d9a8p-2f,
                                       -0x1.971086p-3f, -0x1.26f36cp-3f, -0x1.0d01cp-2f};
  // (pi cot(pi r) - 1/r) / r in r^2, |r| <= 1/2: 2^-30.0
  static constexpr float cot_rest[] = {-0x1.a51a66p1f, -0x1.15133p1f,  -0x1.046c8cp1f, -0x1.018984p1f,
                                       -0x1.f1940ap0f, -0x1.3c3524p1f, 0x1.1d167ap-6f, -0x1.85732p2f};
  static constexpr float cot_rest_first[] = {-0x1.a51a66p1f, -0x1.ed37ap-27f};
  // (pi/sin(pi r))^2 - 1/r^2 in r^2, |r| <= 1/2: 2^-27.5
  static constexpr float square_rest[] = {0x1.a51a66p1f, 0x1.9f9cd8p2f, 0x1.45876ap3f, 0x1.c26b66p3f, 0x1.1c6b74p4f,
                                          0x1.77758ep4f, 0x1.76ee0cp4f, 0x1.1e3742p4f, 0x1.6259dcp6f};
  // (tan(r) - r) / r^3 in r^2, |r| <= pi/4: 2^-32.9
  static constexpr float tan[] = {0x1.555554p-2f, 0x1.111198p-3f, 0x1.b9f7c4p-5f,   0x1.689adep-6f,
                                  0x1.0de73ap-7f, 0x1.540f4cp-8f, -0x1.a65106p-11f, 0x1.1760f8p-9f};
  // (asin(x) - x) / x^3 in x^2, |x| <= 1/2: 2^-31.7
  static constexpr float asin[] = {0x1.55554cp-3f, 0x1.3338acp-4f, 0x1.6ca706p-5f,
                                   0x1.04d70ap-5f, 0x1.d4c954p-7f, 0x1.34ef56p-5f};
  // (asinh(x) - x) / x^3 in x^2, |x| <= 0.53: 2^-28.7
  static constexpr float asinh[] = {-0x1.555522p-3f, 0x1.331e2cp-4f, -0x1.6ae42cp-5f, 0x1.c6588p-6f, -0x1.98f826p-7f};
  // (acosh(1 + d)^2 - 2 d) / d^2, d <= 0.5625: 2^-27.2
  static constexpr float acosh_square[] = {-0x1.55550cp-2f, 0x1.6bf902p-4f, -0x1.d024cep-6f, 0x1.2e7276p-7f,
                                           -0x1.158cb2p-9f};
  // (atanh(s) - s) / s^3 in s^2, |s| <= 1/2: 2^-32.8
  static constexpr float atanh[] = {0x1.555558p-2f, 0x1.99979ep-3f, 0x1.24d1c2p-3f, 0x1.bfa9ccp-4f,
                                    0x1.af1f78p-4f, 0x1.1546ccp-6f, 0x1.7b4426p-3f};
  // (erf_inv(x)/x - half_root_pi) / x^2 - erf_inv_slope in erf_inv_square - x^2, x^2 <= erf_inv_square: 2^-27.5
  static constexpr float erf_inv_near_n[] = {0x1.486e84p-5f, -0x1.0f4cacp-2f, -0x1.ab08d8p-2f, -0x1.38e048p-7f};
  static constexpr float erf_inv_near_d[] = {0x1p0f, 0x1.5a2d18p1f, 0x1.8ea5c4p0f};
  // erf_inv(x) - r - erf_inv_offset in r - erf_inv_root, 1 - |x| = 2 exp(-r^2), r <= 4.18 (f32), 6.13 (f64): 2^-32.0
  static constexpr float erf_inv_far_n[] = {-0x1.1333f4p-4f, 0x1.4906e4p-3f, 0x1.25f398p-3f, 0x1.45cdb8p-6f,
                                            0x1.297afp-16f};
  static constexpr float erf_inv_far_d[] = {0x1p0f, 0x1.2bc216p0f, 0x1.9b642cp-2f, 0x1.2f08b8p-5f};
  // exp(x^2) erfc(x) / t - erfc_offset in t = 1/(x + erfc_shift), 1/2 <= x <= 10.1 (f32), 28 (f64): 2^-28.8
  static constexpr float erfc_n[] = {-0x1.f91628p-4f, 0x1.59ce26p-2f,  -0x1.45299cp-3f,
                                     0x1.228f34p0f,   -0x1.cf5204p-3f, -0x1.82bf16p-3f};
  static constexpr float erfc_d[] = {0x1p0f, 0x1.630a7ep-1f, 0x1.f8e98p1f, 0x1.61a994p0f, 0x1.2bc29ep1f};
};

template <>
struct fitted<double> {
  static constexpr double lgamma_offset = 0.4375;
  static constexpr double digamma_offset = 0.71875;
  static constexpr double trigamma_offset = -0.4375;
  static constexpr double erfc_offset = 0.65625;
  static constexpr double erfc_shift = 0.75;
  static constexpr double erf_inv_square = 0.5625;
  static constexpr double erf_inv_root = 1.4375;
  static constexpr double erf_inv_offset = -0.5625;
  static constexpr double erf_inv_slope = 0.3125;
  static constexpr double digamma_root[] = {0x1.d8b618d5af8fep-2, -0x1.1e563779a1f5bp-56};
  static constexpr double half_root_pi[] = {0x1.c5bf891b4ef6bp-1, -0x1.618f13eb7ca89p-55};
  static constexpr double half_log_two_pi[] = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  // lgamma(1 + v) / (v (v - 1)) - lgamma_offset, 0 <= v <= 2: 2^-58.6
  static constexpr double lgamma_near_n[] = {0x1.1e233f1bed864p-3,  0x1.96dee8c5a00c5p-3,  -0x1.47d90db304ba8p-4,
                                             -0x1.0648df6b2856ep-2, -0x1.1f682347f4f55p-3, -0x1.98f5bb03bd467p-6,
                                             0x1.b851a79366f54p-14, 0x1.2ca660934559ap-12, 0x1.581cd902e219bp-17};
  static constexpr double lgamma_near_d[] = {0x1p0,
                                             0x1.96b1cc94b53a3p1,
                                             0x1.f22a6dfea432fp1,
                                             0x1.24d7c7c7a213cp1,
                                             0x1.47c0ae6fee2fcp-1,
                                             0x1.026cfd747c0cp-4,
                                             -0x1.fb435b6ca6057p-9,
                                             -0x1.bfee5ec30538p-11,
                                             -0x1.929d8ea633c13p-16};
  // x (lgamma(x) - (x - 1/2) log x + x - log(2 pi)/2) in 1/x^2, 3 <= x: 2^-57.4
  static constexpr double lgamma_far[] = {0x1.5555555555201p-4,   -0x1.6c16c16273c99p-9, 0x1.a019ed035ddadp-11,
                                          -0x1.380dc85f966e2p-11, 0x1.b85dbe7b800d2p-11, -0x1.e96d352b321bcp-10,
                                          0x1.64ef18af8bfc6p-8,   -0x1.0a64341149c35p-6, 0x1.309364e23ebb7p-5,
                                          -0x1.660c2a3a9bae2p-5};
  // digamma(1 + v) / (v - digamma_root) - digamma_offset, 0 <= v <= 3: 2^-58.9
  static constexpr double digamma_near_n[] = {0x1.1031d34c4a4bcp-1,   0x1.6b61874734d75p-2,  -0x1.939c59bcefbf4p-3,
                                              -0x1.bcaf2eacaad59p-3,  -0x1.03670ab77629ap-4, -0x1.ee4d7ecfad7adp-8,
                                              -0x1.6e3dbb9c05f9fp-12, -0x1.292647ad8bbe8p-18};
  static constexpr double digamma_near_d[] = {0x1p0,
                                              0x1.23394dbeddd09p1,
                                              0x1.df2693cb0cb4dp0,
                                              0x1.72e600ab51f4fp-1,
                                              0x1.2019d9fdad5a5p-3,
                                              0x1.b3565fd23f177p-7,
                                              0x1.170d510451427p-11,
                                              0x1.a06c8fa664ffp-18};
  // x^2 (digamma(x) - log x + 1/(2 x)) in 1/x^2, 4 <= x: 2^-58.6
  static constexpr double digamma_far[] = {-0x1.555555555515cp-4, 0x1.1111110c7513cp-7,  -0x1.041039594d3f3p-8,
                                           0x1.110dd89ff25f8p-8,  -0x1.efb261cee0983p-8, 0x1.51d85a9ba2fdfp-6,
                                           -0x1.23a07ab2b2a1bp-4, 0x1.dca479f86dfebp-3,  -0x1.cc29db7b6f3fbp-2};
  // 1/trigamma(1 + v) - (1 + v) - trigamma_offset, 0 <= v <= 3: 2^-58.2
  static constexpr double trigamma_near_n[] = {0x1.7423899a1557dp-5,  0x1.f5b13663216ecp-6,  -0x1.cbb6abd892cc4p-5,
                                               -0x1.86d1722c668b7p-4, -0x1.00cfa2473a8a8p-4, -0x1.67504ed78d265p-6,
                                               -0x1.0c6d2f1a0c95p-8,  -0x1.56cca19610e46p-12};
  static constexpr double trigamma_near_d[] = {0x1p0,
                                               0x1.90735f1d55a69p1,
                                               0x1.11841affe095cp2,
                                               0x1.a58b6a93f2e47p1,
                                               0x1.8bfc99c400fep0,
                                               0x1.c6bd998819823p-2,
                                               0x1.28fe3b93a1fcdp-4,
                                               0x1.56cca237d6b7p-8};
  // x^3 (trigamma(x) - 1/x - 1/(2 x^2)) in 1/x^2, 4 <= x: 2^-57.1
  static constexpr double trigamma_far[] = {
      0x1.55555555552f6p-3,  -0x1.1111110f28788p-5, 0x1.86185d434908dp-6, -0x1.110fe1a4c7251p-5, 0x1.361c75ae41fbep-4,
      -0x1.00ac6d0bcda1ep-2, 0x1.14bbc40ee96p0,     -0x1.41c9e3862303p2,  0x1.315afc8cb1345p4,   -0x1.37345a089f842p5};
  // log(sin(pi r)/(pi r)) / r^2 in r^2, |r| <= 1/2: 2^-55.6
  static constexpr double log_sinc[] = {
      -0x1.a51a6625307d3p0,  -0x1.151322ac7d9f5p-1, -0x1.5b40cb0fd5cbbp-2, -0x1.010b36c539026p-2, -0x1.9a01da7fd825fp-3,
      -0x1.556bf5888d01ep-3, -0x1.247fc15303ef6p-3, -0x1.01438becb6499p-3, -0x1.aead1d81eb904p-4, -0x1.1ff874857b571p-3,
      0x1.a2136f6b43db4p-4,  -0x1.6a7f5821dc5d2p-1, 0x1.39ffd4aa15deap0,   -0x1.9fd144baae783p0,  0x1.5bb4ad2df06ddp-1};
  // (pi cot(pi r) - 1/r) / r in r^2, |r| <= 1/2: 2^-60.4
  static constexpr double cot_rest[] = {
      -0x1.a51a6625307d3p1, -0x1.151322ac7d852p1, -0x1.0470984c0859ep1, -0x1.010b36afef8fcp1,
      -0x1.00412e16e9a43p1, -0x1.001025604e221p1, -0x1.0003812b103cep1, -0x1.000aac311a0a4p1,
      -0x1.fefb9686ac6c2p0, -0x1.04f906fdf0c4cp1, -0x1.b95560fe3b8f8p0, -0x1.b5faef77e272ep1,
      0x1.9ac5ae38c8fa1p1,  -0x1.e143f8de51f7ap3, 0x1.2819378926989p4,  -0x1.273f9c5f230b1p4};
  static constexpr double cot_rest_first[] = {-0x1.a51a6625307d3p1, -0x1.0ecdde7fc93bp-54};
  // (pi/sin(pi r))^2 - 1/r^2 in r^2, |r| <= 1/2: 2^-55.6
  static constexpr double square_rest[] = {
      0x1.a51a6625307d3p1, 0x1.9f9cb402bc4fcp2, 0x1.458cbe5f05692p3,  0x1.c1d39fb65972bp3, 0x1.2049538973974p4,
      0x1.60163fa75abe7p4, 0x1.a0047afa2c8aep4, 0x1.e028fee483657p4,  0x1.0ef680973e343p5, 0x1.3a300338ba4e1p5,
      0x1.0756e12856dc1p5, 0x1.735fd57c5418cp6, -0x1.e523e3715dd2cp6, 0x1.df6cb3ec79bffp8, -0x1.2ad6ecf956b25p9,
      0x1.1672017ff6d59p9, 0x1.892650c882e61p5};
  // (tan(r) - r) / r^3 in r^2, |r| <= pi/4: 2^-60.0
  static constexpr double tan[] = {0x1.555555555555dp-2,  0x1.11111111106d9p-3,  0x1.ba1ba1bab2898p-5,
                                   0x1.664f485fb0bbdp-6,  0x1.226e3a3275772p-7,  0x1.d6d2f430e8502p-9,
                                   0x1.7db0e0e336a44p-10, 0x1.34c2ca023a63ap-11, 0x1.fed03d9b77963p-13,
                                   0x1.6057b2374b89cp-14, 0x1.16921e2d193c3p-14, -0x1.9d16092bb9e58p-16,
                                   0x1.90f06a1a7f3a4p-15, -0x1.904bc93fecebp-16, 0x1.45b7a70e0d159p-17};
  // (asin(x) - x) / x^3 in x^2, |x| <= 1/2: 2^-59.9
  static constexpr double asin[] = {
      0x1.5555555555577p-3, 0x1.333333332e134p-4,  0x1.6db6db721236bp-5, 0x1.f1c71a9508afcp-6, 0x1.6e8bdedd9e559p-6,
      0x1.1c49f08ef36f1p-6, 0x1.ca1f8891f14adp-7,  0x1.7585b27ba764fp-7, 0x1.613ba38aab3b5p-7, 0x1.e6037823f0ffdp-9,
      0x1.6398282976d36p-6, -0x1.57f7598391da5p-6, 0x1.0b44cd6c9a1dp-5};
  // (asinh(x) - x) / x^3 in x^2, |x| <= 0.53: 2^-58.5
  static constexpr double asinh[] = {-0x1.555555555550fp-3, 0x1.333333332abdcp-4,  -0x1.6db6db6808227p-5,
                                     0x1.f1c71a86aad65p-6,  -0x1.6e8b722d0523ep-6, 0x1.1c4bad0ce4b35p-6,
                                     -0x1.c95617618f4bap-7, 0x1.788b4f2cd44e3p-7,  -0x1.3570fc8b9fc76p-7,
                                     0x1.d996cbcd55afbp-8,  -0x1.1f721ec6de813p-8, 0x1.83dbc8560ec3cp-10};
  // (acosh(1 + d)^2 - 2 d) / d^2, d <= 0.5625: 2^-56.9
  static constexpr double acosh_square[] = {-0x1.55555555554eap-2,  0x1.6c16c16c09e9bp-4,   -0x1.d41d41cb85954p-6,
                                            0x1.4ce199747611cp-7,   -0x1.f85d4c26ed2ap-9,   0x1.8f0a552bd7057p-10,
                                            -0x1.45b35fbdcfe15p-11, 0x1.0f2a87ee45d85p-12,  -0x1.c169bc43beb32p-14,
                                            0x1.59db2457b6de1p-15,  -0x1.a529570ed0875p-17, 0x1.1c7d52cedc3a4p-19};
  // (atanh(s) - s) / s^3 in s^2, |s| <= 1/2: 2^-60.9
  static constexpr double atanh[] = {
      0x1.555555555554cp-2,  0x1.999999999b3b9p-3, 0x1.24924923c5a5cp-3,  0x1.c71c722c3c3f6p-4, 0x1.745d087d11f78p-4,
      0x1.3b151664e9e4p-4,   0x1.10fa28736bfcap-4, 0x1.e3f0ecaa3923bp-5,  0x1.9e51e1a5988c2p-5, 0x1.e81e322ac925ep-5,
      -0x1.61f9a8b1975bep-8, 0x1.669290a59ec48p-3, -0x1.92079f3e135bdp-3, 0x1.ee0c0c2ec74e3p-3};
  // (erf_inv(x)/x - half_root_pi) / x^2 - erf_inv_slope in erf_inv_square - x^2, x^2 <= erf_inv_square: 2^-57.5
  static constexpr double erf_inv_near_n[] = {0x1.486e89cf557dbp-5, -0x1.b78879cc9321bp-4, -0x1.46caa23de0fffp0,
                                              -0x1.6511fade8ebccp1, -0x1.2c3fff74cbe62p1,  -0x1.83225a895a817p-1,
                                              -0x1.15d644aaea218p-4};
  static constexpr double erf_inv_near_d[] = {0x1p0,
                                              0x1.a8ba3f75d3a7bp2,
                                              0x1.0bbceef5612c7p4,
                                              0x1.40251b82b9719p4,
                                              0x1.711a957d55d5cp3,
                                              0x1.6f90c76ef23d4p1,
                                              0x1.c08c9d7bc35abp-3};
  // erf_inv(x) - r - erf_inv_offset in r - erf_inv_root, 1 - |x| = 2 exp(-r^2), r <= 4.18 (f32), 6.13 (f64): 2^-56.6
  static constexpr double erf_inv_far_n[] = {-0x1.1333f3c1a763cp-4, 0x1.5fb73fee98c46p-4,  0x1.2d038a85a4c3bp-2,
                                             0x1.f059f0b14c208p-3,  0x1.854adc2bcde2fp-4,  0x1.4af2a5070009cp-6,
                                             0x1.216a8c574ce3p-9,   0x1.a943076df9c21p-14, 0x1.54a61a5305e9fp-20};
  static constexpr double erf_inv_far_d[] = {0x1p0,
                                             0x1.245c427963efbp1,
                                             0x1.10600398a17dbp1,
                                             0x1.0e928699082c6p0,
                                             0x1.395b5a9930728p-2,
                                             0x1.a9d8068b97f68p-5,
                                             0x1.386910ca2c93fp-8,
                                             0x1.9607702adfebap-13,
                                             0x1.30250dd9eb235p-19};
  // exp(x^2) erfc(x) / t - erfc_offset in t = 1/(x + erfc_shift), 1/2 <= x <= 10.1 (f32), 28 (f64): 2^-57.8
  static constexpr double erfc_n[] = {-0x1.791457deb32c7p-4, -0x1.9c0eff3a38179p-2, -0x1.04803911f9b16p0,
                                      0x1.954f31df3a3adp1,   0x1.ddc259a125637p4,   0x1.d8fbb339b1c66p6,
                                      0x1.1d72f7b1e904bp8,   0x1.bd75222d4cf6ap8,   0x1.8b4dff09925d2p8,
                                      0x1.390307de4db94p6,   -0x1.5a5285901bcd2p7};
  static constexpr double erfc_d[] = {0x1p0,
                                      0x1.1ef4fdc9676d8p3,
                                      0x1.a53afe402fe07p5,
                                      0x1.9d7db4a79e2bfp7,
                                      0x1.2dd270f2a35dep9,
                                      0x1.488386bf4ab5cp10,
                                      0x1.0c13b7c25170cp11,
                                      0x1.3f53c9702b531p11,
                                      0x1.0821613861136p11,
                                      0x1.100e36c697083p10,
                                      0x1.07df35ad311a7p8};
};

}  // namespace anvil::elementary
