/** The calls that pipelines make themselves: an address goes into a security group, and out of it. */
const {
  AuthorizeSecurityGroupIngressCommand,
  EC2Client,
  RevokeSecurityGroupIngressCommand,
} = require('@aws-sdk/client-ec2');

const client = new EC2Client({});

/** Asks a service for the address of this machine, as checkip.amazonaws.com answers. */
exports.ownAddress = async () => (await (await fetch(process.env.ADDRESS_URL)).json()).ip;

const permission = (address) => ({
  GroupId: process.env.SECURITY_GROUP,
  IpPermissions: [
    {
      IpProtocol: 'tcp',
      FromPort: 22,
      ToPort: 22,
      IpRanges: [{ CidrIp: `${address}/32`, Description: 'CI' }],
    },
  ],
});

/** An address that is there already is fine: another job may have added it. */
exports.authorize = async (address) => {
  try {
    await client.send(new AuthorizeSecurityGroupIngressCommand(permission(address)));
  } catch (error) {
    if (error.name !== 'InvalidPermission.Duplicate') throw error;
  }
};

/** An address that is not there is fine: another job may have removed it. */
exports.revoke = async (address) => {
  try {
    await client.send(new RevokeSecurityGroupIngressCommand(permission(address)));
  } catch (error) {
    if (error.name !== 'InvalidPermission.NotFound') throw error;
  }
};
