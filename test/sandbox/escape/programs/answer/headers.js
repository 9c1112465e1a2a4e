// Members that an answer does not have.
// @expect status 500
export default {
  id: 'answer-headers',
  async handler(input, context) {
    return { status: 200, headers: { 'Set-Cookie': 'a=b' }, body: 1 };
  },
};
