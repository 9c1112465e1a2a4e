// A body with a member named __proto__.
// @expect status 200
export default {
  id: 'answer-proto',
  async handler(input, context) {
    return { body: JSON.parse('{"__proto__":{"admin":true},"constructor":1}') };
  },
};
