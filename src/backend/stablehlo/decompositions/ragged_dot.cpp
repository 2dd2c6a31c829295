// chlo.ragged_dot: one dimension of lhs is cut into groups, whose sizes are data. It may be a
// dimension of rows: then each group has a matrix of its own in rhs. It may be one that is
// summed over: then each group gives a result. Or one of the batch, which changes nothing.
// Elements after the last group give 0.
#include <algorithm>

#include "backend/stablehlo/decompositions/product.h"
#include "primitives/vocabulary/infer.h"

namespace anvil::stablehlo {
namespace {

using primitives::contains;
using Values = std::vector<ValuePtr>;

int64_t rank(const Var& v) { return static_cast<int64_t>(v.shape().size()); }
int64_t position(const Ints& list, int64_t x) { return std::find(list.begin(), list.end(), x) - list.begin(); }

struct Ragged {
  Ragged(const Operation& operation, const Vars& x) : op(operation), lhs(x[0]), rhs(x[1]), sizes(x[2]) {
    const Dictionary& numbers = fields(op, need(op, "ragged_dot_dimension_numbers"));
    d = dimensions(op, numbers);
    Ints ragged_dims = field(op, numbers, "lhs_ragged_dimensions");
    group_dims = field(op, numbers, "rhs_group_dimensions");
    if (ragged_dims.size() != 1) refuse(op.at, "lhs must have exactly one ragged dimension");
    ragged = ragged_dims[0];
    check();
  }
  const Operation& op;
  Var lhs, rhs, sizes;
  Dimensions d;
  int64_t ragged = 0;
  Ints group_dims;

  bool of_batch() const { return contains(d.lhs_batch, ragged); }
  bool of_sum() const { return contains(d.lhs_contracting, ragged); }
  Ints rows() const { return primitives::other_axes(lhs.shape().size(), d.lhs_batch, d.lhs_contracting); }

  // The dimensions of lhs that sizes may depend on: the batch, and those of the ragged one's
  // own kind that come before it.
  Ints leading() const {
    const Ints kind = of_batch() ? d.lhs_batch : of_sum() ? d.lhs_contracting : rows();
    Ints list = of_batch() ? Ints{} : d.lhs_batch;
    list.insert(list.end(), kind.begin(), kind.begin() + position(kind, ragged));
    return list;
  }

  void check() const {
    if (ragged < 0 || ragged >= rank(lhs)) refuse(op.at, "the ragged dimension is none of lhs");
    for (const Ints* list : {&d.lhs_batch, &d.lhs_contracting})
      for (int64_t k : *list)
        if (k < 0 || k >= rank(lhs)) refuse(op.at, "dimension " + std::to_string(k) + " is none of lhs");
    bool groups_in_rhs = !of_batch() && !of_sum();
    if (group_dims.size() != (groups_in_rhs ? 1u : 0u))
      refuse(op.at, groups_in_rhs
                        ? "rhs must have exactly one group dimension when rows are ragged"
                        : "rhs has no group dimension when the ragged dimension is a batch or contracting one");
    for (int64_t g : group_dims)
      if (g < 0 || g >= rank(rhs) || contains(d.rhs_batch, g) || contains(d.rhs_contracting, g))
        refuse(op.at, "the group dimension of rhs must be one of its own, neither a batch nor a contracting one");
    if (!is_integer(sizes.dtype()) || sizes.shape().empty())
      refuse(op.at, "the group sizes must be a list of integers");
    Shape full;
    for (int64_t k : leading()) full.push_back(lhs.shape()[static_cast<size_t>(k)]);
    full.push_back(groups_in_rhs ? rhs.shape()[static_cast<size_t>(group_dims[0])] : sizes.shape().back());
    if (sizes.shape() != Shape{full.back()} && sizes.shape() != full)
      refuse(op.at,
             "the group sizes have shape " + in_parentheses(sizes.shape()) + " instead of " + in_parentheses(full));
  }

  // Whether an element belongs to a group: of shape `shape`, in which dimension `axis` is the
  // ragged one and `leads` are the leading ones, then the groups.
  Var member(Shape shape, int64_t axis, Ints leads) const {
    Var size = primitives::convert(sizes, DType::i64), end = primitives::cumsum(size, rank(sizes) - 1);
    if (rank(sizes) == 1) leads.clear();
    leads.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(sizes.shape().back());
    Var index = primitives::iota(*lhs.graph, axis, DType::i64, shape);
    return (index >= primitives::broadcast_in_dim(end - size, shape, leads)) &
           (index < primitives::broadcast_in_dim(end, shape, leads));
  }
};

// The products of all rows with all groups, of which those count that belong together: what
// the others are, infinite perhaps, does not matter.
Var ragged_rows(const Ragged& r) {
  Var all = product(r.op, r.lhs, r.rhs, r.d);  // batch, rows, then of rhs the groups among its own
  Ints places = r.d.lhs_batch, rows = r.rows(), leads;
  places.insert(places.end(), rows.begin(), rows.end());
  for (int64_t k : r.leading()) leads.push_back(position(places, k));
  auto first = static_cast<int64_t>(places.size());
  Ints columns = primitives::other_axes(r.rhs.shape().size(), r.d.rhs_batch, r.d.rhs_contracting);
  int64_t groups = first + position(columns, r.group_dims[0]);
  Var member = r.member(primitives::take(r.lhs.shape(), places), position(places, r.ragged), leads);
  Ints dims = primitives::all_axes(places.size());
  dims.push_back(groups);
  return primitives::reduce_sum(only_where(primitives::broadcast_in_dim(member, all.shape(), dims), all), {groups});
}

// One product for each group, of the operands with 0 where they are not of it.
Var ragged_sums(const Ragged& r) {
  Ints matching;  // the leading dimensions, in rhs
  for (int64_t k : r.leading())
    matching.push_back(contains(r.d.lhs_batch, k)
                           ? r.d.rhs_batch[static_cast<size_t>(position(r.d.lhs_batch, k))]
                           : r.d.rhs_contracting[static_cast<size_t>(position(r.d.lhs_contracting, k))]);
  auto of_groups = [&](const Var& x, int64_t axis, const Ints& leads) {
    Var member = r.member(x.shape(), axis, leads);
    return only_where(member, primitives::broadcast_in_dim(x, member.shape(), primitives::all_axes(x.shape().size())));
  };
  int64_t partner = r.d.rhs_contracting[static_cast<size_t>(position(r.d.lhs_contracting, r.ragged))];
  Dimensions d = r.d;
  d.lhs_batch.insert(d.lhs_batch.begin(), rank(r.lhs));
  d.rhs_batch.insert(d.rhs_batch.begin(), rank(r.rhs));
  return product(r.op, of_groups(r.lhs, r.ragged, r.leading()), of_groups(r.rhs, partner, matching), d);
}

Values ragged_dot(Importer&, const Operation& op, const Vars& x) {
  need_operands(op, 3);
  check_precision(op);
  Ragged r(op, x);
  Var plain = r.of_batch() || r.of_sum() ? product(op, r.lhs, r.rhs, r.d) : r.lhs;  // refuses what does not fit
  return {(r.of_batch() ? plain : r.of_sum() ? ragged_sums(r) : ragged_rows(r)).value};
}

}  // namespace

void add_ragged_rules(Rules& rules) { add(rules, "chlo.ragged_dot", ragged_dot); }

}  // namespace anvil::stablehlo
