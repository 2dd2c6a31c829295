#include "backend/stablehlo/text_writer.h"

namespace anvil::stablehlo {

std::string types(const std::vector<TensorType>& list) {
  std::string s = "(";
  for (size_t i = 0; i < list.size(); ++i) s += (i ? ", " : "") + hlo_text(list[i]);
  return s + ")";
}

Item TextWriter::op(const std::string& name, const std::vector<Item>& operands, const TensorType& type,
                    const std::vector<std::string>& attributes) {
  return op(name, operands, std::vector{type}, attributes)[0];
}

std::vector<Item> TextWriter::op(const std::string& name, const std::vector<Item>& operands,
                                 const std::vector<TensorType>& results, const std::vector<std::string>& attributes) {
  std::vector<Item> items = begin_results(results);
  text += "\"" + name + "\" (" + operand_names(operands) + ")";
  if (!attributes.empty()) text += " {\n" + joined(attributes) + "\n}";
  text += signature(operands, results);
  return items;
}

std::vector<Item> TextWriter::op_with_regions(const std::string& name, const std::vector<Item>& operands,
                                              const std::vector<TensorType>& results,
                                              const std::vector<std::function<void()>>& regions,
                                              const std::vector<std::string>& attributes) {
  std::vector<Item> items = begin_results(results);
  text += "\"" + name + "\" (" + operand_names(operands) + ")({\n";
  for (size_t i = 0; i < regions.size(); ++i) {
    if (i) text += "}, {\n";
    scopes_.emplace_back();
    std::string outer = indent_;
    regions[i]();
    indent_ = outer;
    scopes_.pop_back();
  }
  text += "})";
  if (!attributes.empty()) text += " {\n" + joined(attributes) + "\n}";
  text += signature(operands, results);
  return items;
}

Item TextWriter::pretty(const std::string& body, const std::vector<Item>& operands, const TensorType& type,
                        const char* colon) {
  std::vector<Item> items = begin_results({type});
  std::vector<TensorType> in;
  for (const Item& o : operands) in.push_back(o.type);
  text += body + colon + types(in) + " -> (" + hlo_text(type) + ")\n";
  return items[0];
}

void TextWriter::block_arguments(const std::vector<Item>& arguments) {
  text += "  ^bb0(";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ", " : "") + arguments[i].name + ": " + hlo_text(arguments[i].type);
  text += "):\n";
  indent_ = "    ";
}

void TextWriter::yield(const char* name, const std::vector<Item>& items) {
  std::vector<TensorType> in;
  for (const Item& i : items) in.push_back(i.type);
  text += indent_ + "\"" + name + "\"(" + operand_names(items) + "): " + types(in) + " -> ()\n";
}

Item TextWriter::constant(const std::string& dense, const TensorType& type) {
  std::string id = fresh();
  text += indent_ + id + " = \"stablehlo.constant\" () {\nvalue = " + dense + " : " + hlo_text(type) + "\n}: () -> (" +
          hlo_text(type) + ")\n";
  return {id, type};
}

std::vector<Item> TextWriter::begin_results(const std::vector<TensorType>& results) {
  std::vector<Item> items;
  for (const TensorType& t : results) items.push_back({fresh(), t});
  if (!items.empty())
    text += indent_ + operand_names(items) + " = ";
  else
    text += indent_;
  return items;
}

std::string TextWriter::operand_names(const std::vector<Item>& items) {
  std::string s;
  for (size_t i = 0; i < items.size(); ++i) s += (i ? ", " : "") + items[i].name;
  return s;
}

std::string TextWriter::joined(const std::vector<std::string>& lines) {
  std::string s;
  for (size_t i = 0; i < lines.size(); ++i) s += (i ? ",\n" : "") + lines[i];
  return s;
}

std::string TextWriter::signature(const std::vector<Item>& operands, const std::vector<TensorType>& results) {
  std::vector<TensorType> in;
  for (const Item& o : operands) in.push_back(o.type);
  return ": " + types(in) + " -> " + types(results) + "\n";
}

}  // namespace anvil::stablehlo
