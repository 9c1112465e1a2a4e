// Errors with long stories.
// @expect fails
export default {
  id: 'memory-stacks',
  async handler(input, context) {
    Error.stackTraceLimit = Infinity;
    const all = [];
    const deep = (n) => (n ? deep(n - 1) : all.push(new Error("x").stack));
    for (;;) deep(2000);
  },
};
