// A body inside of itself.
// @expect status 500
export default {
  id: 'answer-circle',
  async handler(input, context) {
    const body = {};
    body.body = body;
    return { body };
  },
};
