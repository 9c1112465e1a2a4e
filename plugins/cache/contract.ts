/**
 * The bus channel on which every process is notified, with null, that it has to forget all cached answers. For a plugin that changes what answers depend
 * on without changing a row, a permission or the schema.
 */
export const CACHE_CLEAR_CHANNEL = 'cache.clear';
