// A status that would change the protocol.
// @expect any
export default {
  id: 'answer-switching',
  async handler(input, context) {
    return { status: 101, body: 'x' };
  },
};
