import product from '../package.json' with { type: 'json' };

/** The running product's version, which admins may see. */
export const VERSION: string = product.version;
