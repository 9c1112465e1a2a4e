// Compiling an expression of very many groups.
// @expect fails
export default {
  id: 'time-big-expression',
  async handler(input, context) {
    for (;;) new RegExp('(a?)'.repeat(20000) + Math.random()).test('a'.repeat(20000));
  },
};
