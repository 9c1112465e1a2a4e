// A text that is five million levels deep.
// @expect fails
export default {
  id: 'memory-parse-deep',
  async handler(input, context) {
    return { body: JSON.parse('['.repeat(5e6) + ']'.repeat(5e6)).length };
  },
};
