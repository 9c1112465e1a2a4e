// An array that grows.
// @expect fails
export default {
  id: 'memory-array',
  async handler(input, context) {
    const all = [];
    for (;;) all.push({ at: all.length });
  },
};
