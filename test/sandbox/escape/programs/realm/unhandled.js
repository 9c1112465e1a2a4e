// Unhandled rejections, one of them with a getter that never returns.
// @expect any
export default {
  id: 'realm-unhandled',
  async handler(input, context) {
    Promise.reject(new Error('x'));
    Promise.reject({ get message() { for (;;); } });
    Promise.reject(Symbol('x'));
    await null;
    return { body: 'still here' };
  },
};
