// An answer that is no object.
// @expect status 500
export default {
  id: 'answer-text',
  async handler(input, context) {
    return 'ESCAPED';
  },
};
