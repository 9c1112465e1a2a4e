// A status that is a text with lines.
// @expect status 500
export default {
  id: 'answer-status-text',
  async handler(input, context) {
    return { status: '200\r\nSet-Cookie: a=b', body: 1 };
  },
};
