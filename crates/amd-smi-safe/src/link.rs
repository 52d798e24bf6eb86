//! PCIe, and links between GPUs.

use crate::convert::{counted, known32, open_enum};
use crate::processor::ask;
use crate::{BusId, Error, Processor, Result, raw};

/// The PCIe link of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pcie {
    /// Its lanes now. A GPU without work may use fewer.
    pub lanes: Option<u32>,
    /// The most lanes that it can have.
    pub max_lanes: Option<u32>,
    /// The rate of a lane now, in million transfers a second: 16000 is PCIe 4.
    pub megatransfers_per_second: Option<u32>,
    /// The highest rate of a lane.
    pub max_megatransfers_per_second: Option<u32>,
    /// The generation of PCIe: of AMD's GPUs that of the interface, of NVIDIA's that of the link now.
    pub generation: Option<u32>,
    /// What it transfers now, in megabits a second.
    pub megabits_per_second: Option<u32>,
    /// Packets that were sent again.
    pub replays: Option<u64>,
    /// How the card is built.
    pub slot: Option<SlotKind>,
}

open_enum! {
    /// How a card is built.
    SlotKind {
        /// A card.
        PCIE = 0, "PCIe card";
        /// An accelerator module of a board for several.
        OAM = 1, "OAM";
        /// A card of another form.
        CEM = 2, "CEM";
        /// Not known to the driver.
        UNKNOWN = 3, "unknown";
    }
}

open_enum! {
    /// The kind of a link between two processors.
    LinkKind {
        /// Within a chip.
        INTERNAL = 0, "internal";
        /// PCIe.
        PCIE = 1, "PCIe";
        /// AMD's own, from GPU to GPU.
        XGMI = 2, "XGMI";
        /// None.
        NOT_APPLICABLE = 3, "none";
        /// Not known to the driver.
        UNKNOWN = 4, "unknown";
    }
}

open_enum! {
    /// The state of a link.
    LinkStatus {
        /// It works.
        ENABLED = 0, "enabled";
        /// It is switched off.
        DISABLED = 1, "disabled";
        /// Nothing is at its other end.
        INACTIVE = 2, "inactive";
        /// It has failed.
        ERROR = 3, "error";
    }
}

open_enum! {
    /// Whether links between GPUs had errors.
    XgmiErrors {
        /// None.
        NONE = 0, "no errors";
        /// One.
        ONE = 1, "an error";
        /// Several.
        SEVERAL = 2, "several errors";
    }
}

/// A link from a GPU to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link {
    /// The other GPU.
    pub to: BusId,
    /// Its kind.
    pub kind: LinkKind,
    /// The rate of a lane, in gigabits a second.
    pub gigabits_per_second: Option<u32>,
    /// The most that it transfers, in gigabits a second.
    pub max_gigabits_per_second: Option<u32>,
    /// What came in, in kilobytes.
    pub read_kilobytes: Option<u64>,
    /// What went out, in kilobytes.
    pub written_kilobytes: Option<u64>,
    /// Its state; not in version 26 of the library, which has no field for it.
    pub status: Option<LinkStatus>,
}

/// A group of linked GPUs, and a GPU's number in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Xgmi {
    /// The lanes of a link.
    pub lanes: u8,
    /// The same number for all GPUs that are linked to each other; 0 for a GPU alone.
    pub hive: u64,
    /// Its number in there.
    pub node: u64,
    /// Its index in there.
    pub index: u32,
}

/// The way from one GPU to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Route {
    /// Its kind.
    pub kind: LinkKind,
    /// 1 over XGMI however many links, 2 over PCIe below one CPU, 3 over PCIe and several CPUs.
    pub steps: u64,
    /// What the driver takes it to cost: less is nearer.
    pub weight: u64,
}

impl Processor {
    /// The group of GPUs that it is linked to, and its number there.
    ///
    /// # Errors
    /// [`Error::NotSupported`] for a GPU without such links, or those of the library.
    #[doc(alias = "amdsmi_get_xgmi_info")]
    pub fn xgmi(&self) -> Result<Xgmi> {
        let xgmi = ask!(self, xgmi_info)?;
        Ok(Xgmi {
            lanes: xgmi.xgmi_lanes,
            hive: xgmi.xgmi_hive_id,
            node: xgmi.xgmi_node_id,
            index: xgmi.index,
        })
    }

    /// Whether its links had errors.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_gpu_xgmi_error_status")]
    pub fn xgmi_errors(&self) -> Result<XgmiErrors> {
        Ok(XgmiErrors(ask!(self, xgmi_errors)?.0))
    }

    /// Its links to other GPUs.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_link_metrics")]
    pub fn links(&self) -> Result<Vec<Link>> {
        let metrics = ask!(self, link_metrics)?;
        let has_status = self.session.version().major >= 27;
        let link = |link: &hip_sys::amdsmi::amdsmi_link_metrics_t__links| Link {
            // SAFETY: S15: the number covers the whole union, which the library has filled, and was zeroed before.
            to: BusId::from_bits(unsafe { link.bdf.as_uint }),
            kind: LinkKind(link.link_type.0),
            gigabits_per_second: known32(link.bit_rate),
            max_gigabits_per_second: known32(link.max_bandwidth),
            read_kilobytes: counted(link.read),
            written_kilobytes: counted(link.write),
            status: has_status.then_some(LinkStatus(link.link_status.0)),
        };
        // The library may count more than the structure has room for.
        Ok(metrics.links.iter().take(metrics.num_links as usize).map(link).collect())
    }

    /// The way to another GPU of the same library.
    ///
    /// # Errors
    /// [`Error::OtherLibrary`], or those of the library.
    #[doc(alias = "amdsmi_topo_get_link_type")]
    #[doc(alias = "amdsmi_topo_get_link_weight")]
    pub fn route_to(&self, other: &Self) -> Result<Route> {
        if !std::ptr::eq(self.session, other.session) {
            return Err(Error::OtherLibrary);
        }
        let ends = [self.handle.0, other.handle.0];
        let table = self.session.enter();
        // SAFETY: S1, S23: nobody else is in the library, and both handles are its own.
        let (steps, kind) = unsafe { raw::link_type(&table, ends) }?;
        // SAFETY: S1, S23: as above.
        let weight = unsafe { raw::link_weight(&table, ends) }?;
        Ok(Route { kind: LinkKind(kind.0), steps, weight })
    }

    pub(crate) fn pcie_now(&self) -> Result<Pcie> {
        let pcie = ask!(self, pcie_info)?;
        let (fixed, now) = (&pcie.pcie_static, &pcie.pcie_metric);
        Ok(Pcie {
            lanes: known32(now.pcie_width.into()),
            max_lanes: known32(fixed.max_pcie_width.into()),
            megatransfers_per_second: known32(now.pcie_speed),
            max_megatransfers_per_second: known32(fixed.max_pcie_speed),
            generation: known32(fixed.pcie_interface_version),
            megabits_per_second: known32(now.pcie_bandwidth),
            replays: counted(now.pcie_replay_count),
            slot: Some(SlotKind(fixed.slot_type.0)),
        })
    }
}
