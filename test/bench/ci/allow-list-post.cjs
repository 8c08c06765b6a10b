/** The post step of common allow-list actions: it removes the address that the main step added. */
const { revoke } = require('./security-group.cjs');

if (process.env.STATE_address) void revoke(process.env.STATE_address);
