// Rows that the caller may not read.
// @capabilities {"items":{"accountability":"user"}}
export default {
  id: 'reach-rows-of-others',
  async handler(input, context) {
    const answers = [];
    for (const query of [{}, { filter: { text: { _contains: 'a' } } }, { fields: ['*'] }, { sort: ['text'] }, { search: 'a' }]) {
      const answer = await context.host.items.readMany('secrets', query);
      answers.push(answer.ok ? 'ESCAPED: rows' : answer.error.code);
    }
    answers.push((await context.host.items.createOne('secrets', { text: 'x' })).ok ? 'ESCAPED: wrote' : 'denied');
    answers.push((await context.host.items.deleteMany('secrets', [1])).ok ? 'ESCAPED: deleted' : 'denied');
    return { body: answers };
  },
};
