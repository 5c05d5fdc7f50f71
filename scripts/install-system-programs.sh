#!/bin/sh
# Installs the programs of Debian that `npm run test:system` needs, and starts none of their services. It
# first prints what it installs. You may install them in another way: the script does nothing when all of
# them are in PATH.
#
# usage: sh scripts/install-system-programs.sh
set -eu
PATH="$PATH:/usr/sbin"

# program:package
wanted="nginx:nginx caddy:caddy soffice:libreoffice-calc strace:strace faketime:faketime
  pgbouncer:pgbouncer pg_basebackup:postgresql firefox-esr:firefox-esr promtool:prometheus openssl:openssl
  systemd-analyze:systemd buildah:buildah python3:python3"

packages=
for one in $wanted; do
  command -v "${one%%:*}" >/dev/null || packages="$packages ${one##*:}"
done
[ -n "$packages" ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  echo "npm run test:system needs$packages, which root installs on Debian: sudo sh scripts/install-system-programs.sh" >&2
  exit 1
fi

echo "Installing from the packages of Debian for npm run test:system (apt-get, up to 300 MB):$packages ..."

# Debian starts a service when it installs it, unless this file forbids that.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
# shellcheck disable=SC2086 # one word each
apt-get -qq install -y --no-install-recommends $packages >/dev/null

# Do not start them when the machine boots either.
for service in $packages; do
  [ ! -e "/etc/init.d/$service" ] && [ ! -e "/lib/systemd/system/$service.service" ] && continue
  if command -v systemctl >/dev/null; then systemctl disable "$service" 2>/dev/null || true; fi
  if command -v update-rc.d >/dev/null; then update-rc.d "$service" disable 2>/dev/null || true; fi
done
