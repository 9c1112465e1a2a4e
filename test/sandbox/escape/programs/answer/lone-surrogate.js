// A text that is no text.
// @expect any
export default {
  id: 'answer-lone-surrogate',
  async handler(input, context) {
    return { body: '\ud800' };
  },
};
