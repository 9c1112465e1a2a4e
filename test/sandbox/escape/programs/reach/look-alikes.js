// Texts that look like a declared origin.
// @capabilities {"request":{"origins":["http://declared.invalid","http://ORIGIN"],"methods":["GET"]}}
export default {
  id: 'reach-look-alikes',
  async handler(input, context) {
    const answers = [];
    for (const url of ['http://declared.invalid@INSIDE/', 'http://INSIDE/#http://declared.invalid', 'http://declared.invalid./', 'http:\\\\INSIDE/', 'http://declared.invalid%2eINSIDE/', ' http://INSIDE/', 'HTTP://INSIDE']) {
      const answer = await context.host.request.send({ url });
      answers.push(answer.ok ? `ESCAPED: ${url}` : answer.error.code);
    }
    return { body: answers };
  },
};
