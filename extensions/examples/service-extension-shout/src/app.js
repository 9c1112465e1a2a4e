export default {
  id: 'shout',
  name: 'Shout',
  icon: 'campaign',
  description: 'Fills a template and makes it loud',
  overview: ({ template }) => [{ label: 'Template', text: template }],
  options: [{ field: 'template', name: 'Template', type: 'string', meta: { interface: 'input' } }],
};
