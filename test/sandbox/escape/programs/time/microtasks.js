// Every microtask makes the next one: the queue never empties.
// @expect fails
export default {
  id: 'time-microtasks',
  async handler(input, context) {
    const again = () => Promise.resolve().then(again);
    await again();
  },
};
