import type { SystemCollection } from '../schema/contract.ts';

/**
 * Users by the name that their identity provider gives them in a logout, where another attribute identifies them. Rows are deleted
 * after their expiry.
 */
export const samlNamesCollection: SystemCollection = {
  collection: 'platform_saml_names',
  note: 'Which user an identity provider means by a name, for logouts that it begins',
  internal: true,
  fields: [
    // A hash of provider and name.
    { field: 'id', type: 'string', maxLength: 64, primary: true },
    { field: 'identifier', type: 'string', maxLength: 255 },
    { field: 'expires', type: 'timestamp' },
  ],
};
