// A text that is small and means much.
// @expect fails
export default {
  id: 'memory-parse',
  async handler(input, context) {
    return { body: JSON.parse(`[${'0,'.repeat(2e7)}0]`).length };
  },
};
