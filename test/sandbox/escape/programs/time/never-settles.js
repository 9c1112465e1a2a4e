// A promise that nobody settles.
// @expect fails
export default {
  id: 'time-never-settles',
  async handler(input, context) {
    await new Promise(() => {});
  },
};
