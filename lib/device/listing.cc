// SPDX-License-Identifier: BSD-3-Clause
// The device's objects for display: its queue pairs and its groups.
#include <cerrno>
#include <map>
#include <memory>
#include <set>

#include "device/device.h"
#include "group/mgid.h"

namespace uroce::device {

// The lock may be given up while an engine is asked, so the queue pairs are found again each time.
int Device::list_qps(std::vector<QpSummary>& qps) {
  Lock lock(lock_);
  std::vector<uint32_t> numbers;
  numbers.reserve(qps_.size());
  for (const auto& entry : qps_) numbers.push_back(entry.first);
  for (const uint32_t number : numbers) {
    auto found = qps_.find(number);
    if (found == qps_.end()) continue;
    auto command = std::make_shared<engine::QueryQpCommand>();
    command->qpn = Qpn(number);
    const int error = caller_.call(found->second->engine, command, lock);
    if (error == -ETIMEDOUT) return error;
    found = qps_.find(number);
    if (error != 0 || found == qps_.end()) continue;
    const Qp& qp = *found->second;
    QpSummary summary;
    summary.qpn = qp.qpn;
    summary.type = qp.type;
    summary.engine = qp.engine;
    summary.attributes = command->attributes;
    summary.has_path = qp.has_path;
    if (qp.has_path) summary.peer = qp.path.dgid;
    summary.groups.reserve(qp.groups.size());
    for (const auto& [group, sources] : qp.groups) summary.groups.push_back(group);
    // The context stays while the device's lock keeps the queue pair from being destroyed.
    if (const transport::QpContext* context = caller_.seat(qp.engine).engine().qp(qp.qpn)) {
      summary.recv_queue_empty = context->recv_queue_empty.value();
      summary.qkey_violations = context->qkey_violations.value();
      summary.pkey_violations = context->pkey_violations.value();
    }
    qps.push_back(std::move(summary));
  }
  return 0;
}

std::vector<GroupSummary> Device::list_groups() {
  const std::lock_guard guard(lock_);
  struct Found {
    GroupSummary summary;
    std::set<Gid> sources;
  };
  std::map<Gid, Found> groups;
  for (const auto& [number, qp] : qps_) {
    for (const auto& [group, sources] : qp->groups) {
      Found& found = groups[group];
      found.summary.members.push_back(Qpn(number));
      found.summary.member_sources.push_back(static_cast<uint32_t>(sources.size()));
      found.sources.insert(sources.begin(), sources.end());
    }
  }
  std::vector<GroupSummary> list;
  list.reserve(groups.size());
  for (auto& [group, found] : groups) {
    found.summary.group = group;
    found.summary.mac = group::mac_of(group);
    found.summary.sources.assign(found.sources.begin(), found.sources.end());
    list.push_back(std::move(found.summary));
  }
  return list;
}

}  // namespace uroce::device
