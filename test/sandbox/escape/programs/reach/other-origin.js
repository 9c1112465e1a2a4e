// Origins that were not declared.
// @capabilities {"request":{"origins":["http://declared.invalid","http://ORIGIN"],"methods":["GET"]}}
export default {
  id: 'reach-other-origin',
  async handler(input, context) {
    const answers = [];
    for (const url of ['http://INSIDE/', 'https://example.com/', 'http://declared.invalid:81/', 'https://declared.invalid/', 'http://sub.declared.invalid/']) {
      const answer = await context.host.request.send({ url });
      answers.push(answer.ok ? `ESCAPED: ${url}` : answer.error.code);
    }
    return { body: answers };
  },
};
