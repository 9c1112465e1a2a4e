// An answer that is another promise, and so on for ever.
// @expect fails
export default {
  id: 'time-thenable',
  async handler(input, context) {
    const chain = () => ({ then: (settle) => settle(chain()) });
    return chain();
  },
};
