// A search through an array of four billion holes.
// @expect fails
export default {
  id: 'time-sparse',
  async handler(input, context) {
    const holes = [];
    holes.length = 2 ** 32 - 1;
    holes[0] = 0;
    Object.defineProperty(holes, 2 ** 32 - 2, { get: () => 0 });
    return { body: holes.indexOf(1) };
  },
};
