// Calls of the host with as much in them as fits.
// @capabilities {"items":{"accountability":"user"}}
export default {
  id: 'memory-calls',
  async handler(input, context) {
    const big = 'x'.repeat(250000);
    const answers = await Promise.all(Array.from({ length: 900 }, () => context.host.items.readMany('secrets', { search: big })));
    if (answers.some(({ ok }) => ok)) return { body: 'ESCAPED: a search of 250 kB was carried out' };
    return { body: 'refused' };
  },
};
