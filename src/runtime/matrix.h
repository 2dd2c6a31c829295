// Matrices of Eigen's, and memory seen as one: dense, stored by columns.
#pragma once
#include <Eigen/Core>

namespace anvil::runtime {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using MatrixMap = Eigen::Map<Matrix<T>>;
template <class T>
using ConstMatrixMap = Eigen::Map<const Matrix<T>>;

}  // namespace anvil::runtime
