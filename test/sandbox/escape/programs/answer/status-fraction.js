// A status between two.
// @expect status 500
export default {
  id: 'answer-status-fraction',
  async handler(input, context) {
    return { status: 200.5, body: 1 };
  },
};
