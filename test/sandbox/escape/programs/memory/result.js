// An answer of two hundred megabytes.
// @expect fails
export default {
  id: 'memory-result',
  async handler(input, context) {
    return { body: 'x'.repeat(2e8) };
  },
};
