// SPDX-License-Identifier: BSD-3-Clause
// XRC domains, and target queue pairs with their handles.
//
// A domain that is opened by a file is the same one for all contexts of the device that open that
// file: the file stays open while the domain lives, so that its number is nobody else's.
#include "ibverbs/xrc.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "device/xrc_targets.h"
#include "ibverbs/object_making.h"
#include "ibverbs/operations.h"

namespace uroce::ibverbs {

using File = std::pair<dev_t, ino_t>;

struct XrcDomain {
  device::Xrcd* object = nullptr;
  uint32_t device_index = 0;
  int fd = -1;  // keeps the file; -1: no file
  File file{};
  uint32_t opens = 0;  // under the lock of all domains
  device::XrcTargets<Qp> targets;
};

namespace {

struct Domains {
  std::mutex lock;
  std::vector<XrcDomain*> of_files;
};
Domains& domains() {
  static auto& all = *new Domains;
  return all;
}

// Makes `handle` one onto `real`, ready for its events.
Qp& make_handle(Qp& real, Xrcd& xrcd, Qp& handle) {
  ibv_qp& shown = handle.qp_base;
  shown.context = xrcd.context;
  shown.handle = shown.qp_num = real.handle.qpn.value();
  shown.qp_type = IBV_QPT_XRC_RECV;
  handle.xrcd = &xrcd;
  handle.real = &real;
  device::share_handle(real.handle, handle.handle);
  ++xrcd.uses;
  ++of(xrcd.context).objects;
  begin_life(handle);
  return handle;
}

// Ends the target, which only `last` has open. 0 or a negative errno.
int end_target(device::Device& device, XrcDomain& domain, Qp& real, Qp& last) {
  const uint32_t number = real.handle.qpn.value();
  const int error = device::end_live(&real, [&](const device::Quiesce& quiesce) {
    return device.destroy_qp(real.handle, [&] {
      quiesce();
      domain.targets.ended(number);
    });
  });
  if (error == 0) {
    device::LiveObjects::instance().rest(std::shared_ptr<Qp>(&real));
    return 0;
  }
  domain.targets.add(number, real, last);
  return error;
}

// The domain of the file, opened once more; nullptr: there is none. The lock is held.
XrcDomain* find_domain(uint32_t device_index, const File& file) {
  for (XrcDomain* const domain : domains().of_files) {
    if (domain->device_index == device_index && domain->file == file) return domain;
  }
  return nullptr;
}

// 0 or a negative errno. The lock is held.
int make_domain(device::Device& device, uint32_t device_index, int fd, const File& file,
                XrcDomain*& made) {
  std::unique_ptr<XrcDomain> domain(new (std::nothrow) XrcDomain{});
  if (domain == nullptr) return -ENOMEM;
  if (const int error = device.create_xrcd(domain->object); error != 0) return error;
  domain->device_index = device_index;
  if (fd >= 0) {
    domain->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (domain->fd < 0) {
      const int error = -errno;
      device.destroy_xrcd(*domain->object);
      return error;
    }
    domain->file = file;
    domains().of_files.push_back(domain.get());
  }
  made = domain.release();
  return 0;
}

// As open() would: O_CREAT and O_EXCL say whether it may be a new one and must be. 0 or a negative
// errno. The lock is held.
int open_domain(device::Device& device, uint32_t device_index, const ibv_xrcd_init_attr& init,
                XrcDomain*& domain) {
  if (init.fd == -1) return make_domain(device, device_index, -1, {}, domain);
  struct stat status {};
  if (fstat(init.fd, &status) != 0) return -errno;
  const File file{status.st_dev, status.st_ino};
  domain = find_domain(device_index, file);
  if (domain != nullptr) return (init.oflags & O_EXCL) != 0 ? -EINVAL : 0;
  if ((init.oflags & O_CREAT) == 0) return -EAGAIN;
  return make_domain(device, device_index, init.fd, file, domain);
}

}  // namespace

Qp* create_target(ibv_context* context, ibv_qp_init_attr_ex& init) {
  device::Device* device = nullptr;
  if (const int error = reach_device(context, device); error != 0) return refuse<Qp>(error);
  std::unique_ptr<Qp> real(new (std::nothrow) Qp{});
  std::unique_ptr<Qp> handle(new (std::nothrow) Qp{});
  if (real == nullptr || handle == nullptr) return refuse<Qp>(-ENOMEM);
  Xrcd& xrcd = of(init.xrcd);
  XrcDomain& domain = *xrcd.domain;
  real->domain = &domain;
  device::QpRequest request;
  request.type = transport::QpType::kXrcTgt;
  request.xrcd = domain.object;
  request.user = real.get();
  device::LiveObjects::instance().add(real.get());
  if (const int error = device->create_xrc_target(request, real->handle); error != 0) {
    device::LiveObjects::instance().remove(real.get());
    return refuse<Qp>(error);
  }
  handle->qp_base.qp_context = init.qp_context;
  handle->qp_base.state = IBV_QPS_RESET;
  init.cap = {};
  Qp& target = *real.release();
  domain.targets.add(target.handle.qpn.value(), target, make_handle(target, xrcd, *handle));
  return handle.release();
}

int close_target(ibv_qp& qp) {
  device::Device* device = nullptr;
  if (const int error = reach_device(qp.context, device); error != 0) return positive(error);
  Qp& handle = of(&qp);
  Xrcd& xrcd = *handle.xrcd;
  XrcDomain& domain = *xrcd.domain;
  Qp* last_of = nullptr;
  if (const int error = domain.targets.close(qp.qp_num, handle, last_of); error != 0) {
    return positive(error);
  }
  if (last_of != nullptr) {
    const int error = end_target(*device, domain, *last_of, handle);
    if (error != 0) return positive(error);
  }
  end_life(handle);
  --of(xrcd.context).objects;
  --xrcd.uses;
  return 0;
}

void deliver_to_handles(const Qp& target, transport::EventType type) {
  target.domain->targets.tell(target.handle.qpn.value(),
                              [type](Qp& handle) { deliver(handle, type); });
}

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* xrcd_init_attr) {
  constexpr uint32_t kMasks = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  if (xrcd_init_attr->comp_mask != kMasks) return refuse<ibv_xrcd>(-EINVAL);
  return make_object<Xrcd>(context, [&](device::Device& device, Xrcd& xrcd) {
    const std::lock_guard guard(domains().lock);
    if (const int error = open_domain(device, of(context).index, *xrcd_init_attr, xrcd.domain);
        error != 0) {
      return error;
    }
    ++xrcd.domain->opens;
    xrcd.context = context;
    xrcd.object = xrcd.domain->object;
    return 0;
  });
}

int close_xrcd(ibv_xrcd* xrcd) {
  if (of(xrcd).uses != 0) return EBUSY;
  return end_object(xrcd->context, of(xrcd), [xrcd](device::Device& device) {
    XrcDomain* const domain = of(xrcd).domain;
    const std::lock_guard guard(domains().lock);
    if (domain->opens == 1) {
      if (const int error = device.destroy_xrcd(*domain->object); error != 0) return error;
      std::erase(domains().of_files, domain);
      if (domain->fd >= 0) close(domain->fd);
      delete domain;
    } else {
      --domain->opens;
    }
    return 0;
  });
}

ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr) {
  constexpr uint32_t kNeeded = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  if ((attr->comp_mask & ~uint32_t{IBV_QP_OPEN_ATTR_CONTEXT}) != kNeeded || attr->xrcd == nullptr ||
      attr->xrcd->context != context || attr->qp_type != IBV_QPT_XRC_RECV) {
    return refuse<ibv_qp>(-EINVAL);
  }
  std::unique_ptr<Qp> handle(new (std::nothrow) Qp{});
  if (handle == nullptr) return refuse<ibv_qp>(-ENOMEM);
  if ((attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0) {
    handle->qp_base.qp_context = attr->qp_context;
  }
  handle->qp_base.state = IBV_QPS_UNKNOWN;
  const int error = of(attr->xrcd).domain->targets.open(attr->qp_num, [&](Qp& real) -> Qp& {
    return make_handle(real, of(attr->xrcd), *handle);
  });
  return error == 0 ? plain(*handle.release()) : refuse<ibv_qp>(error);
}

}  // namespace uroce::ibverbs
