// SPDX-License-Identifier: BSD-3-Clause
// Groups by name: the calls of uroce/multicast.h that read one, join it and leave it. Each error
// leaves its sentence.
#include <uroce/ib_multicast.h>
#include <uroce/multicast.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "base/address_text.h"
#include "base/last_error.h"
#include "base/quotable.h"
#include "group/mgid.h"
#include "verbs/handles.h"

using namespace uroce::verbs;
using uroce::Gid;

namespace {

std::string quoted(const char* text) { return "\"" + uroce::quotable(text) + "\""; }

int refuse(const char* text, const std::string& why) {
  uroce::set_last_error(quoted(text) + " " + why);
  return -EINVAL;
}

// Reads "GROUP" or "SOURCE@GROUP".
int parse(const char* text, Gid& group, Gid& source) {
  const std::string_view whole(text);
  const size_t at = whole.find('@');
  const bool has_source = at != std::string_view::npos;
  const auto named = uroce::parse_gid(has_source ? whole.substr(at + 1) : whole);
  if (!named) {
    return refuse(text,
                  "names no group: write 239.1.1.1, ff3e::1 or the 32 hexadecimal digits of an "
                  "MGID, and SOURCE@ in front to hear one source only");
  }
  if (!uroce::group::is_valid_mgid(*named)) {
    return refuse(text, "names " + uroce::address_text(*named) +
                            ", which is no group: IPv4 groups are 224.0.0.0 … 239.255.255.255, "
                            "IPv6 groups begin with ff");
  }
  group = *named;
  source = Gid{};
  if (!has_source) return 0;
  const auto sender = uroce::parse_gid(whole.substr(0, at));
  if (!sender) return refuse(text, "has no IP address before the @: write the sender's there");
  if (sender->is_ipv4() != group.is_ipv4()) {
    return refuse(text, "mixes IPv4 and IPv6: source and group must be of one family");
  }
  if (!uroce::group::is_valid_source(group, *sender)) {
    return refuse(text, "has a source that no host can be: write the sender's own address");
  }
  source = *sender;
  return 0;
}

// Of an error whose cause nobody below has told.
std::string why(const ib_qp& qp, int error) {
  switch (error) {
    case -EOPNOTSUPP:
      return "the device cannot do that";
    case -EINVAL:
      if (qp.qp_type != IB_QPT_UD) return "only a queue pair of type IB_QPT_UD can be a member";
      break;
    case -EBUSY:
      return "another thread changes or destroys the queue pair: try again";
    case -ENODEV:
      return "the device is being closed";
    case -ETIMEDOUT:
      return "the engine of the queue pair does not answer: something must drive it";
    default:
      break;
  }
  return std::generic_category().message(-error);
}

// Joining or leaving: the call for the whole group, that for one source, and what they do.
struct Change {
  int (*group)(ib_qp*, ib_gid*, __u16 lid);
  int (*source)(ib_qp*, ib_gid*, const ib_gid*);
  const char* done;
};

// Says why it was an error: what the device or the port has told, if they have.
int change(ib_qp* qp, const char* text, const Change& how) {
  ib_gid group;
  ib_gid source;
  if (const int error = uroce_parse_mcast(text, &group, &source); error != 0) return error;
  uroce::set_last_error("");  // what an earlier call has told
  const int result =
      to_gid(source).is_zero() ? how.group(qp, &group, 0) : how.source(qp, &group, &source);
  if (result == 0) return 0;
  const std::string told = uroce::last_error();
  uroce::set_last_error(quoted(text) + " cannot be " + how.done + ": " +
                        (told.empty() ? why(*qp, result) : told));
  return result;
}

}  // namespace

int uroce_parse_mcast(const char* text, ib_gid* group, ib_gid* source) {
  Gid to;
  Gid from;
  if (const int error = parse(text, to, from); error != 0) return error;
  if (source == nullptr && !from.is_zero()) {
    return refuse(text, "names a source, which has no meaning here: name the group alone");
  }
  from_gid(to, *group);
  if (source != nullptr) from_gid(from, *source);
  return 0;
}

int uroce_join_mcast(ib_qp* qp, const char* text) {
  return change(qp, text, {ib_attach_mcast, uroce_attach_mcast_source, "joined"});
}

int uroce_leave_mcast(ib_qp* qp, const char* text) {
  return change(qp, text, {ib_detach_mcast, uroce_detach_mcast_source, "left"});
}
