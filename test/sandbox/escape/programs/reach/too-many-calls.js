// More calls than one run may make.
export default {
  id: 'reach-too-many-calls',
  async handler(input, context) {
    let refused = 0;
    for (let at = 0; at < 70; at++) {
      const answers = await Promise.all(Array.from({ length: 17 }, () => context.host.settings.get('x')));
      refused += answers.filter(({ ok, error }) => !ok && error.code === 'rate_limited').length;
    }
    return { body: refused < 70 ? `ESCAPED: only ${refused} of 1190 calls were refused` : 'refused' };
  },
};
