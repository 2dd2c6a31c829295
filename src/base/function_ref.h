// A function that is called while its caller waits: refers to it without a copy, as C++26's std::function_ref does, so that
// what takes functions need not be a template of its own for each.
#pragma once
#include <type_traits>
#include <utility>

namespace anvil {

template <class>
class FunctionRef;
template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_v<F&, Args...>) FunctionRef(F&& f)
      : function_(const_cast<void*>(static_cast<const void*>(&f))), call_([](void* function, Args... args) -> R {
          return static_cast<R>((*static_cast<std::remove_reference_t<F>*>(function))(std::forward<Args>(args)...));
        }) {}
  R operator()(Args... args) const { return call_(function_, std::forward<Args>(args)...); }

 private:
  void* function_;
  R (*call_)(void*, Args...);
};

}  // namespace anvil
