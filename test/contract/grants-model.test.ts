import { describeGrants } from './grants.ts';

describeGrants('model');
