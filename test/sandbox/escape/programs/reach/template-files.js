// Templates that read files or never end.
// @capabilities {"template":true}
export default {
  id: 'reach-template-files',
  async handler(input, context) {
    const answers = [];
    for (const template of ['{% include "/etc/passwd" %}', '{% render "../../package.json" %}', '{% layout "/etc/passwd" %}', '{% for a in (1..100000000) %}{{ a }}{% endfor %}', '{{ x.constructor.constructor }}', '{{ "x" | append: x.__proto__ }}']) {
      const answer = await context.host.template.renderLiquid(template, { x: {} });
      answers.push(answer.ok && /root:|function|\[native/.test(answer.value) ? `ESCAPED: ${template}` : 'nothing');
    }
    return { body: answers };
  },
};
