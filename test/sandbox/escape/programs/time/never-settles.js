// A promise that never settles.
// @expect fails
export default {
  id: 'time-never-settles',
  async handler(input, context) {
    await new Promise(() => {});
  },
};
