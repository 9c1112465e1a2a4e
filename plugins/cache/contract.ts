/**
 * The bus channel on which every process is told to forget all cached answers, with null. For a plugin that changes what answers depend
 * on without changing a row, a permission or the schema.
 */
export const CACHE_CLEAR_CHANNEL = 'cache.clear';
