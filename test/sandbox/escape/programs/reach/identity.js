// Other identities in the arguments.
// @capabilities {"items":{"accountability":"user"}}
export default {
  id: 'reach-identity',
  async handler(input, context) {
    const answers = await Promise.all([
      context.host.items.readMany('secrets', { accountability: { admin: true } }),
      context.host.items.readMany('secrets', {}, { accountability: null }),
      context.host.items.readMany({ toString: () => 'secrets' }),
      context.host.items.readOne('secrets', { id: 1, admin: true }),
    ]);
    return { body: answers.some(({ ok, value }) => ok && value) ? 'ESCAPED: rows' : 'refused' };
  },
};
