const total = {
  id: 'shop-total',
  name: 'Total',
  icon: 'functions',
  description: 'Adds up a field of all rows',
  overview: ({ field }) => [{ label: 'Field', text: field }],
  options: [{ field: 'field', name: 'Field', type: 'string', meta: { interface: 'input' } }],
};

export const interfaces = [];
export const operations = [total];
