// An answer of very many small things.
// @expect fails
export default {
  id: 'memory-result-list',
  async handler(input, context) {
    return { body: Array.from({ length: 1e6 }, (_, at) => ({ at })) };
  },
};
