// A body that JSON does not have.
// @expect status 500
export default {
  id: 'answer-number',
  async handler(input, context) {
    return { body: 10n };
  },
};
