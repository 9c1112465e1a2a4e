import { defineEventHook } from '@tenon/extension-sdk';

const slugOf = (title) =>
  title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

export default defineEventHook({
  id: 'slugs',
  filters: {
    'articles.items.create'(payload) {
      if (typeof payload.title !== 'string' || payload.title === '') throw new Error('an article has a title');
      return payload.slug ? undefined : { ...payload, slug: slugOf(payload.title) };
    },
  },
  actions: {
    'articles.items.create'(meta, { host }) {
      host.log.info('an article was written', { key: meta.key });
    },
  },
});
