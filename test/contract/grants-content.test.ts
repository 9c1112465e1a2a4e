import { describeGrants } from './grants.ts';

describeGrants('content');
