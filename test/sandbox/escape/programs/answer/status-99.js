// A status that is none.
// @expect status 500
export default {
  id: 'answer-status-99',
  async handler(input, context) {
    return { status: 99, body: 1 };
  },
};
