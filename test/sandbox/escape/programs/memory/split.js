// An allocation that ends the engine at once.
// @expect fails
export default {
  id: 'memory-split',
  async handler(input, context) {
    return { body: 'x'.repeat(2 ** 28).split('').length };
  },
};
