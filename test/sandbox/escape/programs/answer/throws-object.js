// An error that wants to be a status.
// @expect status 500
export default {
  id: 'answer-throws-object',
  async handler(input, context) {
    throw { status: 200, message: 'ESCAPED', code: 'OK' };
  },
};
