// An error with the text of a secret path.
// @expect status 500
export default {
  id: 'answer-throws',
  async handler(input, context) {
    throw new Error('ESCAPED /etc/passwd');
  },
};
