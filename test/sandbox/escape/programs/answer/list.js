// An answer that is a list.
// @expect status 500
export default {
  id: 'answer-list',
  async handler(input, context) {
    return [1, 2];
  },
};
